import { checkNode } from '../base/runtime.ts'
import type { JsonObject } from '../protocol/jsonrpc.ts'
import type { Context } from '../server/context.ts'
import { holdStdout } from '../transport/stdio/guard.ts'
import { App } from './app.ts'
import type { Running } from './listen/listen.ts'
import type { ListenOptions, ServerOptions } from './options.ts'
import type { Delivered, Returns, SchemaLike, ToolOptions, ToolSchemas, Typed } from './types.ts'

/** The options of a tool that has none: its handler gets the arguments as they came. */
const UNCHECKED: object = { input: { type: 'object' } }

/** Adds the handler of a tool, and returns it. It is also a decorator of methods. */
export interface ToolRegistration<Input = JsonObject, Output = unknown, Ctx = Context> {
  /**
   * Adds a function.
   *
   * @example
   * const runAnalysis = server.tool('run_analysis')(({ dataset }) => analyze(String(dataset)))
   */
  <Run extends (input: Input, context: Ctx) => Output>(run: Run): Run
  /** Adds a method: when an object of its class is created, or with the class if it is static. */
  <Run extends (this: never, input: Input, context: Ctx) => Output>(run: Run, method: DecoratedMethod): Run
}

/** The part of `ClassMethodDecoratorContext` that a registration uses. */
export interface DecoratedMethod {
  /** Runs a function with the object, or the class, as `this`. */
  addInitializer(initializer: (this: unknown) => void): void
}

/**
 * A server, as `createServer` returns it, in the form of a class: `new`, `tool` and `start`.
 *
 * @example
 * const server = new MCPServer({ id: 'sums', version: '1.0.0', transports: ['http'], capabilities: ['async'] })
 * server.tool('add', { input: z.object({ a: z.number(), b: z.number() }) })(({ a, b }) => a + b)
 * await server.start()
 */
export class MCPServer<Ctx extends Context = Context, Tools = {}> extends App<Ctx, Tools> {
  /** Takes the options of `createServer`. */
  constructor(
    options: ServerOptions & {
      /** The first tools. Default: none. */
      readonly tools?: Tools | undefined
    },
  ) {
    checkNode('MCPServer')
    holdStdout()
    super(options)
  }

  /** Adds a tool with its options and its handler. */
  override tool<
    const Name extends string,
    const In extends SchemaLike | undefined = undefined,
    const Out extends SchemaLike | undefined = undefined,
    Before = {},
  >(
    this: Typed<Before>,
    name: Name,
    options: ToolOptions<In, Out, Ctx>,
    run: (input: Delivered<In>, context: Ctx) => Returns<Out>,
  ): MCPServer<Ctx, Before & { readonly [Key in Name]: ToolSchemas<In, Out> }>
  /** Adds a tool without options. Its handler gets the arguments unchecked. */
  override tool(name: string, run: (input: JsonObject, context: Ctx) => unknown): this
  /** Returns a function, also a decorator, that adds the handler of a tool without options. The handler gets the arguments unchecked. */
  override tool(name: string): ToolRegistration<JsonObject, unknown, Ctx>
  /** Returns a function, also a decorator, that adds the handler of a tool with these options. */
  override tool<
    const In extends SchemaLike | undefined = undefined,
    const Out extends SchemaLike | undefined = undefined,
  >(name: string, options: ToolOptions<In, Out, Ctx>): ToolRegistration<Delivered<In>, Returns<Out>, Ctx>
  override tool(name: string, ...rest: readonly unknown[]): unknown {
    const [options = UNCHECKED, run] = typeof rest[0] === 'function' ? [undefined, rest[0]] : rest
    const add = (handler: unknown): unknown => super.tool(name, options as {}, handler as () => unknown)
    return run === undefined ? registration(add) : add(run)
  }

  /** Opens the transports of the option `transports`, or the given ones; another name for `listen`. */
  start(options?: ListenOptions): Promise<Running> {
    return this.listen(options)
  }
}

function registration(add: (handler: unknown) => unknown): ToolRegistration {
  return <Run extends (this: never, input: JsonObject, context: Context) => unknown>(
    run: Run,
    method?: DecoratedMethod,
  ): Run => {
    if (method === undefined) add(run)
    else
      method.addInitializer(function () {
        add(run.bind(this as never))
      })
    return run
  }
}
