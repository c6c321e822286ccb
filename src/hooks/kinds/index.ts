import type { LoginHookKind } from '../login-hook.api.js';
import { authentik } from './authentik.js';
import { generic } from './generic.js';
import type { HookKind } from './hook-kind.js';
import { logto } from './logto.js';
import { supabase } from './supabase.js';
import { zitadel } from './zitadel.js';

/** What the calls of each kind look like. */
export const HOOK_KINDS: Readonly<Record<LoginHookKind, HookKind>> = { supabase, zitadel, logto, authentik, generic };
