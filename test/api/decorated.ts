import { MCPServer } from 'pierhead'
import { z } from 'zod'

const server = new MCPServer({ id: 'decorated', version: '1.0.0' })

/** The methods of an object as tools, and one of its class. */
class Counter {
  #count = 0

  @server.tool('add', { input: z.object({ by: z.int() }), output: z.object({ count: z.int() }) })
  add({ by }: { readonly by: number }): { count: number } {
    this.#count += by
    return { count: this.#count }
  }

  @server.tool('about')
  static about(): string {
    return `a ${this.name}`
  }
}

const counter = new Counter()
counter.add({ by: 40 })
await server.start()
