import { createKeys } from 'pierhead/auth'
import { connect } from 'pierhead/client'

const keys = { own: createKeys('client-key.pem'), server: createKeys('server-key.pem').publicKey }
const ledger = await connect({ command: 'node', args: process.argv.slice(2) }, { keys })

console.log(await ledger.call('balance'))
console.log(await ledger.call('pay'))

await ledger.close()
