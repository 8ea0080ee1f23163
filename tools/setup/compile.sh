#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a compiler through ccache, so that a clone in another folder finds the objects that use a precompiled header.
#
# Such a header names the folder of its clone. A hash of its text is written beside it, which ccache takes in its place
# (CCACHE_PCH_EXTSUM); and it is named relative to the build tree, for ccache does that for no option behind -Xclang.
set -e
header=
for word; do
  shift
  case $word in
    -emit-pch) header=yes ;;
    "$PWD"/*/cmake_pch.hxx) word=${word#"$PWD"/} ;;
  esac
  set -- "$@" "$word"
done
[ -n "$header" ] || exec ccache "$@"
ccache "$@"
for word; do
  shift
  case $word in
    -emit-pch) word=-dD ;; # macros are part of it
    *.pch) header=$word word=$word.text ;;
  esac
  set -- "$@" "$word"
done
"$@" -E -P -Qunused-arguments
sha256sum < "$header.text" > "$header.sum"
rm "$header.text"
