import type { App } from './app.ts'
import { mcpError } from './protocol/errors.ts'
import { checkOptions } from './protocol/nearest.ts'
import type { Context } from './server/context.ts'
import type { HttpServer } from './transport/http/listen.ts'
import { serveStdio, type StdioServer } from './transport/stdio/serve.ts'
import { survive } from './survive.ts'
import { HTTP_OPTIONS, LISTEN_OPTIONS, type ListenOptions } from './options.ts'

/** A server that is listening. */
export interface Running {
  /** Where HTTP clients connect, when HTTP was asked for. */
  readonly url: string | undefined
  /** Resolves when everything has stopped. */
  readonly closed: Promise<void>
  /** Finishes what is running, then stops. */
  close(): Promise<void>
}

/** Opens the transports that were asked for; those of the server when none is named, and stdio when HTTP is only ruled out. */
export async function listen<Ctx extends Context>(
  app: App<Ctx>,
  options: ListenOptions,
  usual: ListenOptions,
): Promise<Running> {
  const misplaced = Object.keys(options).find((name) => HTTP_OPTIONS.includes(name))
  if (misplaced !== undefined) {
    const reason = `"${misplaced}" is an option of http: write { http: { ${misplaced} } }`
    throw mcpError('bad_option', { where: 'listen', reason })
  }
  checkOptions('listen', options, LISTEN_OPTIONS)
  const { http: wanted, stdio: asked } =
    options.http === undefined && options.stdio === undefined ? usual : options
  const wantsHttp = wanted !== undefined && wanted !== false
  const wantsStdio = asked === undefined ? !wantsHttp : asked
  if (!wantsHttp && !wantsStdio)
    throw mcpError('bad_option', {
      where: 'listen',
      reason: 'name a transport: { stdio: true } or { http: {} }',
    })
  const http = wantsHttp
    ? await (await import('./listen-http.ts')).openHttp(app, wanted === true ? {} : wanted)
    : undefined
  const stdio = wantsStdio ? serveStdio(app.service, { limits: app.limits }) : undefined
  return running(http, stdio, options.survive === false ? () => undefined : survive(app.service))
}

function running(http: HttpServer | undefined, stdio: StdioServer | undefined, mourn: () => void): Running {
  let closing: Promise<void> | undefined
  let finish: () => void = () => undefined
  const closed = new Promise<void>((resolve) => (finish = resolve))
  const close = (): Promise<void> => {
    closing ??= Promise.all([http?.close(), stdio?.close()]).then(() => {
      process.off('SIGTERM', onSignal)
      process.off('SIGINT', onSignal)
      mourn()
      finish()
    })
    return closing
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (closing !== undefined) process.exit(signal === 'SIGINT' ? 130 : 143)
    void close().then(() => process.exit(0))
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  // A client that closes our input is done with us, whatever else keeps the process alive.
  if (stdio !== undefined) void stdio.closed.then(close).then(() => process.exit())
  return { url: http?.url, closed, close }
}
