import app from './app.ts'

// A worker that does not pass on what the runtime gave it, as frameworks do.
export default { fetch: (request: Request): Promise<Response> => app.fetch(request) }
