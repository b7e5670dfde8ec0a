"""The words of the platform as frozen values and pure rules; standard library only."""
