package org.example.docs.first;

// tag::service
import io.github.lockboot.DistributedLock;
import org.springframework.stereotype.Service;

@Service
class RedPacketService {

    @DistributedLock(name = "packet", key = "#openid+#redPacketId")
    public String grab(String redPacketId, String openid) {
        // one call at a time for this openid and packet, in all instances: a second caller waits
        // up to lock.wait-time (10 s by default), then gets LockNotAcquiredException
        return openid + " opens " + redPacketId;
    }
}
// end::service

/** The README's first lines, whole: this file imports nothing else. */
class RedPacketServiceTests extends FirstLines {

    @org.springframework.beans.factory.annotation.Autowired
    private RedPacketService service;

    @Override
    String grab(String redPacketId, String openid) {
        return service.grab(redPacketId, openid);
    }
}
