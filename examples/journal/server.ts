import { pino } from 'pino'
import { createJournal } from './app.ts'

// On stdio, stdout belongs to the protocol, so pino writes to stderr.
const log = pino(pino.destination(2))

await createJournal(process.argv[2] ?? 'journal.txt', log).listen()
