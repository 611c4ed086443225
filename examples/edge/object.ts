import app from './server.ts'

interface Env {
  readonly TIDES: { getByName(name: string): { fetch(request: Request): Promise<Response> } }
}

/** One place for all sessions, whichever of its machines a client reaches. */
export class Tides {
  fetch(request: Request): Promise<Response> {
    return app.fetch(request)
  }
}

export default {
  fetch: (request: Request, { TIDES }: Env): Promise<Response> => TIDES.getByName('tides').fetch(request),
}
