import { createServer } from 'pierhead'
import tools from './tools/index.ts'

await createServer({
  id: 'my-server',
  version: '2025-11',
  tools,
  transports: ['http', 'stdio'],
  capabilities: ['async'],
}).listen()
