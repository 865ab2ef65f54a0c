"""What a refresh will do, as frozen steps; explain and run read the same ones."""
