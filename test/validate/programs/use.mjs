// What the client programs have in common: connect, use everything, and leave.
import { Login } from './login.mjs'

const [first, ...args] = process.argv.slice(2)
const isUrl = /^https?:/.test(first)

/** What the clients answer to the questions of a server. */
export const ANSWERS = {
  roots: () => ({ roots: [{ uri: 'file:///tmp' }] }),
  elicitation: () => ({ action: 'accept', content: { name: 'Ada' } }),
  sampling: () => ({ role: 'assistant', content: { type: 'text', text: 'ship' }, model: 'none' }),
}
export const CAPABILITIES = { roots: {}, sampling: {}, elicitation: {} }

/** Connects to the server that the command line names. `codeOf` is what a transport wants of the answer of the login page. */
export async function useAll(client, { Http, Stdio, codeOf }) {
  const login = new Login()
  const open = () =>
    isUrl
      ? new Http(new URL(first), { authProvider: login })
      : new Stdio({ command: first, args, stderr: 'ignore' })
  let transport = open()
  const finish = (answer) => transport.finishAuth(codeOf(answer))
  await login.use(
    () => client.connect(transport),
    async (answer) => {
      await finish(answer)
      transport = open()
    },
  )
  const { tools, resources, prompts } = client.getServerCapabilities()
  if (tools !== undefined)
    for (const { name, inputSchema } of (await client.listTools()).tools)
      await login
        .use(() => client.callTool({ name, arguments: defaultsOf(inputSchema) }), finish)
        .catch(() => undefined)
  if (resources !== undefined)
    for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri })
  if (prompts !== undefined)
    for (const { name, arguments: list = [] } of (await client.listPrompts()).prompts)
      await client.getPrompt({ name, arguments: Object.fromEntries(list.map((one) => [one.name, 'ships'])) })
  if (isUrl) await transport.terminateSession()
  await client.close()
}

function defaultsOf({ properties = {} }) {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, one]) =>
      one.default === undefined ? [] : [[name, one.default]],
    ),
  )
}
