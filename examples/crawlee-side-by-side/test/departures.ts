// Loaded into the example before it starts: tells the test when each request leaves the gate.
import { subscribe } from 'node:diagnostics_channel'

subscribe('politely:gate:leave', (message) => process.send?.(message))
