export type {
  AuthReply,
  AuthRequest,
  AuthServer,
  Authorization,
  ClientAuth,
} from '../../../rpc/client-auth.ts'
