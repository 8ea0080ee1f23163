# SPDX-License-Identifier: Apache-2.0
"""`python -m flydsl.dialect`: print the doctor's report; exit code 1 when the bindings do not load."""

import sys

from .doctor import doctor

if __name__ == "__main__":
    report = doctor()
    print(report)
    sys.exit(0 if report.loads else 1)
