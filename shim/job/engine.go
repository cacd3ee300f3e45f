package job

// Engine is the engine whose code is kept, with its version: code of another is of no use. A test holds it to go.mod.
const Engine = "wazero 1.12.0"
