# SPDX-License-Identifier: Apache-2.0
"""``python -m flydsl.emulator``: what is installed and which devices it presents; with arguments, ``fly-emu``."""

from __future__ import annotations

import sys

from flydsl.emulator._library import library_path
from flydsl.emulator.device import Emulator, EmulatorError


def main() -> None:
    """Print the version, the library's path and the emulated devices."""
    emulator = Emulator()
    print(f"fly-emulator {emulator.version}")
    print(f"library  {library_path()}")
    try:
        for ordinal in range(emulator.device_count()):
            name, arch = emulator.device_name(ordinal)
            print(f"device {ordinal} {arch}  {name}")
    except EmulatorError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        from flydsl.emulator import cli

        sys.exit(cli.main())
    main()
