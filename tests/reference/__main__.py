"""Write the pages of the documentation that are made from the program."""

from tests.reference import write

write()
