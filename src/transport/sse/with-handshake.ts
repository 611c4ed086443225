import { LATEST } from '../../protocol/revisions.ts'
import type { Service } from '../../rpc/service.ts'

/** The same service, without the revision that has no handshake. */
export function withHandshake(service: Service): Service {
  return {
    info: service.info,
    changes: service.changes,
    leases: service.leases,
    load: service.load,
    observers: service.observers,
    dialects: service.dialects,
    get isClosed() {
      return service.isClosed
    },
    revisions: service.revisions.filter((revision) => revision !== LATEST),
    showsErrors: service.showsErrors,
    answer: (call) => service.answer(call),
    notice: (call) => service.notice(call),
    report: (level, message, facts) => service.report(level, message, facts),
    warnOnce: (...warning) => service.warnOnce(...warning),
  }
}
