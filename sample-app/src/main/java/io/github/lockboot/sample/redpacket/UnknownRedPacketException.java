package io.github.lockboot.sample.redpacket;

import org.springframework.http.HttpStatus;
import org.springframework.web.ErrorResponseException;

/** There is no such packet, or no longer. */
class UnknownRedPacketException extends ErrorResponseException {

    private static final long serialVersionUID = 1L;

    UnknownRedPacketException(String redPacketId) {
        super(HttpStatus.NOT_FOUND);
        setDetail("There is no red packet '" + redPacketId + "'; packets are kept for a day.");
    }
}
