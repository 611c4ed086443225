import { createServer } from 'pierhead'

const app = createServer({ name: 'films', version: '1.0.0' }).tool('count', {}, async (_, { session }) => {
  const count = ((await session?.get<number>('count')) ?? 0) + 1
  await session?.set('count', count)
  return String(count)
})

const { url, worker } = await app.listen({ http: { port: Number(process.env['PORT'] ?? 3000) }, workers: 2 })
if (worker === undefined) console.log(`serving ${url}`)
