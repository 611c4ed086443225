import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { replyTo, respond, type Asked, type Memory, type Turn } from './script.ts'

/** A scripted server on stdio; its memory is a file, which outlives it. */
const [script = '[]', file = ''] = process.argv.slice(2)
const turns = JSON.parse(script) as Turn[]

createInterface({ input: process.stdin }).on('line', (line) => {
  const asked = JSON.parse(line) as Asked
  const memory = JSON.parse(readFileSync(file, 'utf8')) as Memory
  const turn = respond(turns, memory, asked)
  // Whole at every moment, for whoever reads it meanwhile.
  writeFileSync(`${file}.new`, JSON.stringify(memory))
  renameSync(`${file}.new`, file)
  if (turn === 'cut') process.exit(0)
  if (turn !== undefined && turn !== 'silence') process.stdout.write(`${replyTo(asked, turn)}\n`)
})
