/* SPDX-License-Identifier: Apache-2.0
 *
 * EMBED(symbol, "file"): a file's bytes as a constant of the shared object.
 */
#define EMBED(symbol, file)                                                                        \
  __asm__(".pushsection .rodata\n.balign 4096\n.globl " #symbol "\n.hidden " #symbol "\n" #symbol  \
          ":\n.incbin \"" file "\"\n.popsection\n");                                               \
  extern const char symbol[];

#ifdef CODE
CODE
#endif
