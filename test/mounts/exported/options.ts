import app from './app.ts'

interface Execution {
  waitUntil(promise: Promise<unknown>): void
}

const serve = app.fetchWith({ sse: true, gist: true })

// A worker with its own options, which passes on what keeps a request alive.
export default {
  fetch: (request: Request, _env: unknown, execution: Execution): Promise<Response> =>
    serve(request, { execution }),
}
