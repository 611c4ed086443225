import app from './app.ts'

interface Objects {
  readonly OBJECTS: {
    idFromName(name: string): unknown
    get(id: unknown): { fetch(request: Request): Promise<Response> }
  }
}

/** A Durable Object that serves all clients. */
export class Server {
  fetch(request: Request): Promise<Response> {
    return app.fetch(request)
  }
}

export default {
  fetch: (request: Request, { OBJECTS }: Objects): Promise<Response> =>
    OBJECTS.get(OBJECTS.idFromName('server')).fetch(request),
}
