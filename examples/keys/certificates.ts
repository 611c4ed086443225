import { readFileSync } from 'node:fs'
import { createServer } from 'pierhead'

const app = createServer({ name: 'ledger', version: '1.0.0' })
  .tool('balance', { description: 'The coins of the caller.' }, (_, ctx) => `${ctx.auth?.sub} has 120 coins.`)
  .tool(
    'pay',
    { description: 'Pays a bill.', scopes: ['ledger:write'] },
    (_, ctx) => `${ctx.auth?.sub} has paid.`,
  )

const running = await app.listen({
  http: {
    port: Number(process.env['PORT'] ?? 3000),
    tls: () => ({
      key: readFileSync('key.pem'),
      cert: readFileSync('cert.pem'),
      ca: readFileSync('clients-ca.pem'),
      scopes: ({ subject }) => (subject.split('\n').includes('CN=anna') ? ['ledger:write'] : []),
    }),
  },
})
process.on('SIGHUP', () => void running.reloadTls().catch(console.error))
console.log(`listening on ${running.url}`)
