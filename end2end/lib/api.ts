// The REST API, as the tests use it to prepare what the browser then sees.
import { type APIRequestContext, expect } from '@playwright/test';

export const ADMIN_PHONE = '13800000000';

export interface Sale {
  id: string;
  title: string;
  begins_at: string;
  ends_at: string;
}

export interface Wish {
  title?: string;
  sub_title?: string;
  rules?: string;
  stock?: number;
  /** Milliseconds from now. */
  beginsIn?: number;
  /** Milliseconds from now. */
  endsIn?: number;
}

/** A phone that no other test has. */
export function somePhone(): string {
  return `139${String(Math.floor(Math.random() * 1e8)).padStart(8, '0')}`;
}

/** Logs in; the answer is the session's token. */
export async function logInAt(api: APIRequestContext, phone: string): Promise<string> {
  const sent = await api.post('/api/v1/session/code', { data: { phone } });
  expect(sent.status(), await sent.text()).toBe(200);
  const { code } = await sent.json();
  const opened = await api.post('/api/v1/session', { data: { phone, code } });
  expect(opened.status(), await opened.text()).toBe(200);
  const cookie = opened.headersArray().find((header) => header.name.toLowerCase() === 'set-cookie');
  const token = /^sid=([^;]+)/.exec(cookie?.value ?? '')?.[1];
  if (token === undefined) throw new Error('no session cookie');
  return token;
}

function asAdmin(): { Cookie: string } {
  return { Cookie: `sid=${process.env.SECKILL_E2E_ADMIN}` };
}

/** Publishes a sale. */
export async function publish(api: APIRequestContext, wish: Wish = {}): Promise<Sale> {
  const at = (millis: number): string => new Date(Date.now() + millis).toISOString();
  const answer = await api.post('/api/v1/admin/vouchers', {
    headers: asAdmin(),
    data: {
      title: wish.title ?? 'Noodles for two',
      sub_title: wish.sub_title ?? 'On any day',
      rules: wish.rules ?? 'One voucher a table.',
      pay_value: 4750,
      actual_value: 5000,
      stock: wish.stock ?? 5,
      begins_at: at(wish.beginsIn ?? -1000),
      ends_at: at(wish.endsIn ?? (wish.beginsIn ?? 0) + 3_600_000),
    },
  });
  expect(answer.status(), await answer.text()).toBe(201);
  return (await answer.json()).voucher;
}

/** Pauses, resumes or ends a sale. */
export async function steer(api: APIRequestContext, id: string, action: 'pause' | 'resume' | 'end'): Promise<void> {
  const answer = await api.post(`/api/v1/admin/vouchers/${id}/${action}`, { headers: asAdmin(), data: {} });
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** Adds or takes units. */
export async function restock(api: APIRequestContext, id: string, delta: number): Promise<void> {
  const data = { delta, reason: 'test' };
  const answer = await api.post(`/api/v1/admin/vouchers/${id}/stock`, { headers: asAdmin(), data });
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** A grab by REST. */
export async function grab(api: APIRequestContext, id: string, token: string): Promise<{ status: number; body: any }> {
  const answer = await api.post(`/api/v1/vouchers/${id}/grab`, { headers: { Cookie: `sid=${token}` }, data: {} });
  return { status: answer.status(), body: await answer.json() };
}

/** A shopper's order for a sale. */
export async function orderOf(api: APIRequestContext, id: string, token: string): Promise<any> {
  const answer = await api.get(`/api/v1/vouchers/${id}/order`, { headers: { Cookie: `sid=${token}` } });
  expect(answer.status(), await answer.text()).toBe(200);
  return answer.json();
}
