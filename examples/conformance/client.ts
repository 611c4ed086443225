import { connect, type Revision } from 'pierhead/client'
import { LOGIN_SCENARIOS } from './login-scenarios.ts'
import { SCENARIOS } from './scenarios.ts'

/** Runs the client side of a conformance scenario against the server at its URL. */
export async function play(name: string, url: string): Promise<void> {
  const revision = process.env['MCP_CONFORMANCE_PROTOCOL_VERSION'] as Revision | undefined
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Record<string, unknown>
  const options = { client: { name: 'conformance-client', version: '1.0.0' }, revision }
  const login = LOGIN_SCENARIOS.get(name)
  if (login !== undefined)
    return login((auth) => connect(url, { ...options, auth }), context as Record<string, string>, url)
  const scenario = SCENARIOS.get(name)
  if (scenario === undefined) throw new Error(`there is no scenario "${name}" in this example`)
  await using client = await connect(url, { ...options, answers: scenario.answers })
  await scenario.run(client, context)
}

const name = process.env['MCP_CONFORMANCE_SCENARIO']
const url = process.argv.at(-1)
if (name === undefined || url === undefined || !URL.canParse(url)) {
  console.error('set MCP_CONFORMANCE_SCENARIO to a scenario and give the URL of its server as the argument')
  process.exit(2)
}
// Printed last, so that the suite notices a client that never finishes.
process.on('exit', (code) => console.log(`ended with ${code}`))
try {
  await play(name, url)
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
