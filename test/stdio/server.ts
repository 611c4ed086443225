import process from 'node:process'
import { connect } from '../../src/client.ts'
import { createServer } from '../../src/index.ts'

// The server that the tests of stdio start as a process of its own.
const flags = new Set(process.argv.slice(2))
const bytes = flags.has('small') ? { stdioBytes: 1000 } : {}
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const count = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] } as const
const sure = { type: 'object', properties: { sure: { type: 'boolean' } } } as const
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const hooks = {
  onStart: async () => {
    console.log('starting')
    await wait(1)
    console.log('started')
  },
  onStop: async () => {
    console.log('stopping')
    await wait(1)
    console.log('stopped')
    if (flags.has('stuck')) await wait(60_000)
  },
}

const app = createServer({
  name: 'stdio',
  version: '1.0.0',
  limits: bytes,
  ...(flags.has('hooks') ? hooks : {}),
})
  .tool('echo', { input: text }, ({ text: said }) => said)
  .tool('slow', { input: count }, async ({ count: ms }) => {
    await wait(ms)
    return 'slow'
  })
  .tool('crash', {}, () => {
    process.stdout.write('last words\n')
    setTimeout(() => {
      throw new Error('nobody caught this')
    })
    return 'about to crash'
  })
  .tool('scoped', { scopes: ['a', 'b'] }, () => 'scoped')
  .tool('hang', {}, () => new Promise(() => undefined))
  .tool('ask', {}, async (_, { elicit }) => (await elicit('sure?', sure)).action)
  .tool('shout', {}, () => {
    console.log('a line from console.log')
    console.info('%s', 'another')
    process.stdout.write('and one from write\n')
    process.stdout.write(Buffer.from('bytes\n'), () => undefined)
    return 'shouted'
  })
  .tool('flood', { input: count }, async ({ count: times }, { progress }) => {
    const message = 'x'.repeat(10_000)
    for (let step = 1; step <= times; step++) {
      progress(step, times, message)
      if (step % 50 === 0) await wait(0)
    }
    return 'flooded'
  })

if (flags.has('second'))
  await createServer({
    name: 'second',
    version: '1.0.0',
    onStop: async () => {
      console.error('second stopping')
      await wait(200)
      console.error('second stopped')
    },
  }).listen({ tcp: { port: 0 } })
if (flags.has('early')) console.log('after createServer, before listen')
const beside = { stdio: true, http: { port: 0 }, tcp: { port: 0 } }
const asked = flags.has('beside')
  ? beside
  : flags.has('unnamed')
    ? { http: false }
    : flags.has('limited')
      ? { stdio: { scopes: ['a'] } }
      : {}
const running = await app.listen({ onUncaught: flags.has('mortal') ? 'exit' : 'report', ...asked })
const { addresses } = running
if (flags.has('inner')) await (await connect(app)).call('echo', { text: 'inner' })
if (flags.has('refused')) {
  const taken = new URL(Object.values(addresses)[0] as string)
  const again = app.listen({ http: { port: Number(taken.port) } })
  await again.catch(() => process.stderr.write('again: refused\n'))
}
if (flags.has('late')) console.log('after listen')
for (const address of Object.values(addresses)) process.stderr.write(`at ${address}\n`)
process.stderr.write('listening\n')
if (flags.has('coded')) process.exitCode = 4
if (flags.has('closing') || flags.has('app-closing')) {
  const other = createServer({ name: 'other', version: '1.0.0' }).tool('echo', {}, () => 'other')
  const { url } = await other.listen({ http: { port: 0 } })
  await (flags.has('closing') ? running : app).close()
  await wait(20)
  const client = await connect(url as string)
  process.stderr.write(`closed, ${JSON.stringify(await client.call('echo', {}))}\n`)
  await client.close()
  await other.close()
  process.exitCode = 4
}
