/* A process that calls a tool with stored credentials: node program.mjs <server> <vault> <times>. */
import process from 'node:process'
import { browser, fileVault } from '../../src/auth-client.ts'
import { connect } from '../../src/client.ts'

const [url = '', path = '', times = ''] = process.argv.slice(2)
const answers = new Set<unknown>()
for (let turn = 0; turn < Number(times); turn++) {
  // Each client begins with what the vault has, which the other process may have changed.
  await using client = await connect(url, { auth: browser({ vault: fileVault({ path }), storedOnly: true }) })
  answers.add(await client.call('who', {}))
}
console.log(JSON.stringify([...answers]))
