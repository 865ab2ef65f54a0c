"""Views that join along foreign keys: the evaluation of Svingos et al. 2023, section 7."""
