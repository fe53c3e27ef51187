"""Tools that find texts by what they say, and give them out."""
