/* After logging in again in a tab of its own: the tabs that wait hear who is back, and this one closes if it may. */

const channel = new BroadcastChannel("logged in again");
channel.postMessage(document.querySelector("[data-logged-in]").dataset.loggedIn);
channel.close();
window.close();
