import { pino } from 'pino'
import { createServer } from '../../src/index.ts'
import type { ServerOptions } from '../../src/app/options.ts'

// A server on stdio whose log is chosen by its first argument.
const LOGS: Readonly<Record<string, NonNullable<ServerOptions['log']>>> = {
  pino: pino(pino.destination(2)),
  console,
  'console.log': (level, message) => console.log(`${level}: ${message}`),
}

const app = createServer({ name: 'logged', version: '1', log: LOGS[process.argv[2] ?? ''] ?? console })
app.tool('fail', {}, () => {
  throw new TypeError('oops')
})
await app.listen()
