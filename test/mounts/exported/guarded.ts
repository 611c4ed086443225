import { apiKeys, bearer } from '../../../src/auth.ts'
import { createServer, type App } from '../../../src/index.ts'

/** The digest of the key `harbour-key`, in hexadecimal. */
const DIGEST = '924db92ef233c515185877c7c1399783c0b38bfb81dbab134bd340e1e158386e'

/** Tokens that begin with `soon` expire soon after they are first used. */
const soon = bearer((token) =>
  token.startsWith('soon') ? { sub: token, expiresAt: Date.now() / 1000 + 1 } : undefined,
)

const auth = [soon, apiKeys({ resource: 'https://mcp.example/mcp', digests: { [DIGEST]: 'ann' } })]

const app: App = createServer({ name: 'guarded', version: '1.0.0', auth }).tool(
  'who',
  {},
  (_, context) => context.auth?.sub ?? 'nobody',
) as unknown as App

export default app
