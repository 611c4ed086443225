/** HTTP statuses with which servers say that they are away for now, and proxies that no server answered; the request may have run. */
export const AWAY: ReadonlySet<unknown> = new Set([502, 503, 504])
