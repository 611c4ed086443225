import { createServer } from 'pierhead'
import { allowKeys, createKeys } from 'pierhead/auth'

const app = createServer({ name: 'ledger', version: '1.0.0' })
  .tool('balance', { description: 'The coins of the caller.' }, (_, ctx) => `${ctx.auth?.sub} has 120 coins.`)
  .tool(
    'pay',
    { description: 'Pays a bill.', scopes: ['ledger:write'] },
    (_, ctx) => `${ctx.auth?.sub} has paid.`,
  )

const own = createKeys('server-key.pem')
await app.listen({ stdio: { keys: allowKeys('allowed-keys.json', { own }) } })
