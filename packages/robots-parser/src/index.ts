// Everything that `@politely/robots-parser` offers, and nothing else.
export {}
