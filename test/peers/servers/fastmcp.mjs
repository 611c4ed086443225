import { createServer } from 'node:net'
import { FastMCP, UserError } from 'fastmcp'
import * as facts from './facts.mjs'

const quiet = () => undefined
const server = new FastMCP({
  ...facts.ABOUT,
  instructions: facts.INSTRUCTIONS,
  logger: { debug: quiet, error: quiet, info: quiet, log: quiet, warn: quiet },
  ping: { enabled: false },
})
const starting = async (value) => ({ values: facts.starting(value) })

server.addTool({
  name: 'echo',
  parameters: facts.TEXT,
  annotations: { readOnlyHint: true },
  execute: async ({ text }) => text,
})
server.addTool({
  name: 'add',
  parameters: facts.SUMMANDS,
  outputSchema: facts.SUM,
  execute: async (input) => facts.summed(input),
})
server.addTool({
  name: 'fail',
  execute: async () => {
    throw new UserError('The disk is full')
  },
})
server.addTool({
  name: 'crash',
  execute: async () => {
    throw new Error('it crashed')
  },
})
server.addTool({ name: 'gallery', execute: async () => facts.gallery() })
server.addTool({
  name: 'count',
  parameters: facts.STEPS,
  execute: async ({ to }, { reportProgress }) => {
    for (let progress = 1; progress <= to; progress++)
      await reportProgress({ progress, total: to, message: `step ${progress}` })
    return 'counted'
  },
})
server.addTool({
  name: 'wait',
  parameters: facts.NAME,
  execute: async ({ name }, { signal, reportProgress }) => {
    await reportProgress({ progress: 1 })
    await facts.waitForEnd(name, signal)
    return 'too late'
  },
})
server.addTool({ name: 'ended', parameters: facts.NAME, execute: ({ name }) => facts.whenEnded(name) })
server.addTool({
  name: 'speak',
  execute: async (_, { log }) => {
    log.info('quiet')
    log.error('loud')
    return 'spoken'
  },
})
server.addTool({
  name: 'ask',
  execute: async (_, { elicit }) =>
    JSON.stringify(await elicit({ message: 'Who?', requestedSchema: facts.FORM })),
})
server.addTool({
  name: 'visit',
  execute: async (_, { elicit }) => {
    const url = 'https://example.com/pay'
    return (await elicit({ mode: 'url', message: 'Pay', url, elicitationId: 'one' })).action
  },
})

/** A session is listed only after its handshake is well over. */
async function session(id) {
  while (server.sessions.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  return server.sessions.find((one) => one.sessionId === id) ?? server.sessions[0]
}
server.addTool({
  name: 'joke',
  execute: async (_, { sessionId }) =>
    JSON.stringify(await (await session(sessionId)).requestSampling(facts.QUESTION)),
})
server.addTool({
  name: 'folders',
  execute: async (_, { sessionId }) => JSON.stringify((await session(sessionId)).roots),
})
let extras = 0
server.addTool({
  name: 'grow',
  execute: async () => {
    const name = `extra-${++extras}`
    server.addTool({ name, execute: async () => name })
    server.addPrompt({ name, load: async () => name })
    server.addResource({ name, uri: `note://${name}`, load: async () => ({ text: name }) })
    return 'grown'
  },
})
server.addTool({
  name: 'touch',
  execute: async () => {
    await server.sendResourceUpdated('note://hello')
    return 'touched'
  },
})
server.addResource({
  name: 'hello',
  uri: 'note://hello',
  mimeType: 'text/plain',
  load: async () => ({ text: 'Hello' }),
})
server.addResource({
  name: 'logo',
  uri: 'note://logo',
  mimeType: 'image/png',
  load: async () => ({ blob: facts.PNG }),
})
server.addResourceTemplate({
  name: 'city',
  uriTemplate: 'city://{name}',
  arguments: [{ name: 'name', complete: starting }],
  load: async ({ name }) => ({ text: `city ${name}` }),
})
server.addPrompt({
  name: 'greet',
  arguments: [{ name: 'name', required: true, complete: starting }],
  load: async ({ name }) => `Greet ${name}`,
})

if (process.argv[2] === 'stdio') await server.start({ transportType: 'stdio' })
else {
  const port = await freePort()
  await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } })
  facts.announce(port)
}

/** The library does not say which port it was given. */
function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
