import { server } from './fastmcp-server.mjs'

await server.start({ transportType: 'stdio' })
