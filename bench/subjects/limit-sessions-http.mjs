import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { answer } from './limit-answer.mjs'
import { announce, serverOptions } from './listening.mjs'
import { options } from './options.mjs'

/** How late the use of a session is noted, so that it is not written for each request. */
const NOTED_MS = 1000
const IDLE_MS = 1_800_000

const openStore = options.redis === undefined ? () => inMap() : await inRedis(options.redis)
const ports = []
for (let count = 0; count < options.listeners; count++) ports.push(await listen(openStore(count)))
announce(...ports)

/** The least that a server with sessions does: looks each one up, and notes that it was used. */
function listen(sessions) {
  const server = createServer(serverOptions, (req, res) => {
    let text = ''
    req.setEncoding('utf8')
    req.on('data', (piece) => (text += piece))
    req.on('end', async () => {
      const id = req.headers['mcp-session-id']
      if (id === undefined) res.setHeader('mcp-session-id', await sessions.open(text))
      else {
        const isKnown = sessions.use(id)
        // A map answers at once.
        if (!(isKnown === true || (await isKnown))) return void res.writeHead(404).end()
      }
      answer(text, (body) => {
        res.writeHead(200, {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        })
        res.end(body)
      })
    })
  })
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)))
}

function inMap() {
  const sessions = new Map()
  return {
    open(text) {
      const id = randomUUID()
      sessions.set(id, { about: JSON.parse(text).params, used: performance.now() })
      return id
    },
    use(id) {
      const session = sessions.get(id)
      if (session === undefined) return false
      session.used = performance.now()
      return true
    },
  }
}

async function inRedis({ url, prefix }) {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, { enableAutoPipelining: true })
  return (number) => {
    const keyOf = (id) => `${prefix}:limit:${number}:${id}`
    const note = (key) => Promise.all([client.hset(key, 't', Date.now()), client.pexpire(key, IDLE_MS)])
    return {
      async open(text) {
        const id = randomUUID()
        const key = keyOf(id)
        await client.hset(key, { v: 1, o: '', i: IDLE_MS, about: JSON.stringify(JSON.parse(text).params) })
        await note(key)
        return id
      },
      async use(id) {
        const key = keyOf(id)
        const [version, , used] = await client.hmget(key, 'v', 'o', 't', 'i')
        if (version === null) return false
        if (Date.now() - used > NOTED_MS) void note(key)
        return true
      },
    }
  }
}
