import type { Message } from '../../src/validate/message.ts'
import { inResult, type Fault } from './fault.ts'

/** Changes one tool in the list. */
export function inTool(name: string): (change: (tool: Message) => Message) => NonNullable<Fault['message']> {
  return (change) =>
    inResult('tools/list', (result) => ({
      ...result,
      tools: (result['tools'] as readonly Message[]).map((tool) =>
        tool['name'] === name ? change(tool) : tool,
      ),
    }))
}

/** A schema with objects in objects. */
export function nested(levels: number): Message {
  return levels === 1 ? { type: 'string' } : { type: 'object', properties: { inner: nested(levels - 1) } }
}
