import process from 'node:process'
import { watched } from './app.ts'

// The server that the fuzzer starts as a process of its own; it says on stderr what went wrong in it.
const { app, faults } = watched()
await app.listen({ stdio: true })
setInterval(() => {
  for (const fault of faults.splice(0)) process.stderr.write(`FAULT ${JSON.stringify(fault)}\n`)
}, 20).unref()
