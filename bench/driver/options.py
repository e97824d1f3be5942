# Copyright (C) by the MPICH-TSM developers
# See COPYRIGHT in top-level directory
"""What the command lines of the drivers have in common."""
import argparse
import os

from driver.records import Bad


class Parser(argparse.ArgumentParser):
    """Bad options give one line, without the usage, and status 2."""

    def error(self, message):
        # a subcommand's prog has its name, too
        self.exit(2, f"{self.prog.split()[0]}: {message} (see --help)\n")


def check_folder_of(option, path):
    """A file that is written after minutes of measuring needs a folder from the start."""
    folder = os.path.dirname(os.path.abspath(path))
    if not path or os.path.isdir(path):
        raise Bad(f"{option} '{path}': must name a file")
    if not os.path.isdir(folder):
        raise Bad(f"{option} {path}: there is no folder {folder}")
