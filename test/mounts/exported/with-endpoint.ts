import { createServer, type App } from 'pierhead'

// A server with an endpoint besides MCP.
const app: App = createServer({ name: 'runtime', version: '1.0.0' })
app.use({ endpoints: { '/own': () => new Response('own') } })

export default app
