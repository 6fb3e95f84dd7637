// Placeholder until the first source lands.
