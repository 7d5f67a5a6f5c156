// Long work beside the page: a worker gets a copy of the module's memory, works on it, and its memory becomes
// the page's. Meanwhile the page draws, shows how far it is, and can stop it, which changes nothing.

/* global WORKER */

/** Open what core.put() has left in the module. Returns { found, text, subjects }, what web_open() found, web_message()
 *  says, who can be chosen; null where there are no workers. What the page did meanwhile is lost when the file is good, else kept.
 *  Throws an AbortError when `signal` stops it. */
export async function openAside(core, length, metres, progress, signal) {
  const address = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));
  let worker = null;
  try {
    worker = new Worker(address);
    const reply = await new Promise((done, fail) => {
      worker.onmessage = ({ data }) => { if ('share' in data) progress(data.share); else done(data); };
      worker.onerror = (event) => { event.preventDefault(); done(null); };
      signal.addEventListener('abort', () => fail(signal.reason));
      const image = core.image();
      worker.postMessage({ module: core.module, image, length, metres }, [image]);
    });
    if (reply?.image) core.adopt(reply.image);
    return reply;
  } catch (error) {
    if (signal.aborted) throw error;
    return null;
  } finally {
    worker?.terminate();
    URL.revokeObjectURL(address);
  }
}
