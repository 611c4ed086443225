import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A server over stdio that gives fixed results by method, whatever they are, and an error for other methods (CODE); each after DELAY ms. */
const PROGRAM = `
import { createInterface } from 'node:readline'
const results = JSON.parse(process.argv[2])
createInterface({ input: process.stdin }).on('line', (text) => {
  const { id, method, params } = JSON.parse(text)
  if (id === undefined) return
  const answer = Object.hasOwn(results, method)
    ? { result: results[method] }
    : { error: { code: Number(process.env.CODE ?? -32601), message: 'no ' + method + ' ' + (process.env.SECRET ?? '') } }
  const send = () => console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  setTimeout(send, Number(process.env.DELAY ?? 0))
})
`

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, tasks: { list: {}, cancel: {} } },
  serverInfo: { name: 'fixed', version: '1' },
}

/** The end of a line whose target is such a server. */
export function answering(results: Readonly<Record<string, unknown>>): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'pierhead-answering-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'server.mjs')
  writeFileSync(file, PROGRAM)
  return ['--', process.execPath, file, JSON.stringify({ initialize: INITIALIZE, ...results })]
}
