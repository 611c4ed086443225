import type { TaskStore } from '../../src/stores.ts'

/** A store with a fault, and the check that must find it. */
export type Fault = readonly [fault: string, check: string, plant: (store: TaskStore) => Partial<TaskStore>]

const UNROOMY = { tasks: Infinity, callerTasks: Infinity, taskBytes: Infinity }

/** Stores that keep more than they should, or less. */
export const ROOM_FAULTS: readonly Fault[] = [
  [
    'there is always room',
    'there are never more tasks than there is room for',
    (store) => ({
      create: (record) => store.create(record, UNROOMY),
    }),
  ],
  [
    'the room of callers is ignored',
    'there are never more tasks than there is room for',
    (store) => ({
      create: (record, { tasks }) => store.create(record, { ...UNROOMY, tasks }),
    }),
  ],
  [
    'removed tasks still count',
    'removed tasks make room again',
    (store) => {
      let count = 0
      return {
        create: (record, room) =>
          count++ >= room.tasks ? { outcome: 'full', limit: count } : store.create(record, room),
      }
    },
  ],
  [
    'networks are ignored',
    'the tasks of one network leave a quarter of the places to others',
    (store) => ({
      create: (record, room) => store.create({ ...record, network: '' }, room),
    }),
  ],
  [
    'a call that joins a task counts',
    'steps that add nothing take no room',
    (store) => {
      let joined = 0
      return {
        async create(record, room) {
          const created = await store.create(record, { ...room, tasks: room.tasks - joined })
          if (created.outcome === 'exists') joined++
          return created
        },
      }
    },
  ],
  [
    'bytes of networks are ignored',
    'the tasks of one network take no more bytes than there is room for',
    (store) => ({
      create: (record, room) => store.create({ ...record, network: '' }, room),
    }),
  ],
  [
    'requests always have room',
    'the texts of tasks never take more bytes than there is room for',
    (store) => ({
      create: (record, room) => store.create(record, { ...room, taskBytes: Infinity }),
    }),
  ],
  [
    'a shorter request makes no room',
    'the texts of tasks never take more bytes than there is room for',
    (store) => ({
      change: (id, version, { request: _, ...change }, room) => store.change(id, version, change, room),
    }),
  ],
  [
    'changes always have room',
    'the texts of tasks never take more bytes than there is room for',
    (store) => ({
      change: (id, version, change) => store.change(id, version, change),
    }),
  ],
]
