// The counting server as a program: arguments are the port and the journal.
import { appendFileSync } from 'node:fs'
import { createCountingApp } from './app.ts'

const [port, journal] = process.argv.slice(2) as [string, string]
const { app } = createCountingApp((key) => appendFileSync(journal, `ran ${key}\n`))
const running = await app.listen({ http: { port: Number(port) } })
process.stderr.write(`listening on ${running.url}\n`)
