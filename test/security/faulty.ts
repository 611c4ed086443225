import process from 'node:process'
import { createServer, ToolError } from '../../src/index.ts'

// A server whose handlers misbehave, in a process of its own.
const flags = new Set(process.argv.slice(2))
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))
const number = { type: 'object', properties: { count: { type: 'integer' } } } as const

const app = createServer({
  name: 'faulty',
  version: '1',
  ...(flags.has('bad-log') && {
    log: () => {
      throw new Error('the log is full')
    },
  }),
})
  .tool('ok', {}, () => 'ok')
  .tool('throws', {}, () => {
    throw new Error('at once')
  })
  .tool('rejects', {}, () => soon().then(() => Promise.reject(new Error('later'))))
  .tool('rejects-nothing', {}, () => Promise.reject(undefined as unknown as Error))
  .tool('throws-odd', {}, () => {
    throw { toString: () => Promise.reject(new Error('odd')), message: null } as unknown as Error
  })
  .tool('timeout', { timeout: '5ms' }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 30))
    throw new Error('after its time')
  })
  .tool('after-end', {}, async (_, { progress, log, notify }) => {
    setTimeout(() => {
      progress(1)
      log.error('too late')
      notify('notifications/message', { level: 'error', data: 'too late' })
    }, 5)
    return 'done'
  })
  .tool('asks-late', {}, async (_, { elicit }) => {
    setTimeout(() => void elicit('?', { type: 'object', properties: {} }).catch(() => undefined), 5)
    return 'done'
  })
  .tool('two-questions', {}, async (_, { elicit, roots }) => {
    const first = elicit('?', { type: 'object', properties: {} })
    await roots()
    return (await first).action
  })
  .tool('generator', {}, async function* () {
    yield 'one'
    await soon()
    throw new Error('in the middle')
  })
  .tool('getter', {}, () => ({
    get value(): never {
      throw new Error('a getter')
    },
  }))
  .tool('json', {}, () => ({
    toJSON: () => {
      throw new Error('toJSON')
    },
  }))
  .tool('flood', { input: number }, (_, { progress }) => {
    for (let at = 0; at < 1000; at++) progress(at)
    return 'flooded'
  })
  .resource('bad://{name}', {}, () => Promise.reject(new Error('resource')))
  .prompt('bad', {}, () => 5 as never)
  .tool('told', {}, () => Promise.reject(new ToolError('on purpose')))

if (flags.has('http')) {
  const { url } = await app.listen({ http: { port: 0 } })
  process.stdout.write(`${url}\n`)
  process.stdin.on('end', () => process.exit(0)).resume()
} else await app.listen()
