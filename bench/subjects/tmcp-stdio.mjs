import { StdioTransport } from '@tmcp/transport-stdio'
import { server } from './tmcp-server.mjs'

new StdioTransport(server).listen()
