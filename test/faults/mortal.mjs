// A server that dies at a given moment of its first lives, and then behaves. Arguments: journal, moment, lives.
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [journal, moment, lives] = process.argv.slice(2)
appendFileSync(journal, 'born\n')
const life = readFileSync(journal, 'utf8').split('born').length - 1
const dies = life <= Number(lives)
const die = () => process.kill(process.pid, 'SIGKILL')
const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const capabilities = { tools: { listChanged: true } }
const about = { name: 'mortal', version: '1.0.0' }

if (dies && moment === 'start') die()

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize' || method === 'server/discover') return open(id, method, params)
  if (method === 'tools/call') return call(id, params)
  if (method === 'subscriptions/listen') return listen(id, params)
  if (dies && moment === 'initialized' && method === 'notifications/initialized') return die()
  if (id !== undefined) write({ id, result: { resultType: 'complete' } })
})

function open(id, method, params) {
  if (dies && moment === 'handshake') return die()
  if (dies && moment === 'question') {
    write({ id: 'q', method: 'ping', params: {} })
    return setTimeout(die, 20)
  }
  const result =
    method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities, serverInfo: about }
      : { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities, ttlMs: 0 }
  if (dies && moment === 'half') {
    return process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }).slice(0, 40), die)
  }
  if (dies && moment === 'answered')
    return process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`, die)
  write({ id, result })
}

function call(id, { name, arguments: { key } }) {
  if (dies && moment === 'call') return die()
  if (name === 'silent') return
  appendFileSync(journal, `ran ${key}\n`)
  if (dies && moment === 'ran') return die()
  if (dies && moment === 'half answer') return process.stdout.write(`{"jsonrpc":"2.0","id":${id},"res`, die)
  write({ id, result: { resultType: 'complete', content: [{ type: 'text', text: `${name} ${key}` }] } })
  if (dies && moment === 'done') die()
}

function listen(id, { notifications }) {
  appendFileSync(journal, `listens ${JSON.stringify(notifications)}\n`)
  const _meta = { 'io.modelcontextprotocol/subscriptionId': id }
  write({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta } })
  if (dies && moment === 'listening') die()
}
