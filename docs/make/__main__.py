"""Write the pages of the documentation that are made from the program."""

from docs.make import write

write()
